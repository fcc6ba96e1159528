"""Inspections: a checkpoint asked what it knows, and how its embedding lies on the hypersphere.

What pages read with is free of torch: `spec`, `state`, `store`, `launch`, `suggest`, `alterations`, `runs` and `samples`.
`job` is the process of one inspection, `examine` its work, `images`, `alter` and `measure` the parts of it.
"""
