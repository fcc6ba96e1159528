"""Reports: figures chosen from studies, with text between them, as HTML, PDF, slides or single pictures.

Pages import modules of this package, so it stays free of torch, and kaleido runs in a process of its own.
"""
