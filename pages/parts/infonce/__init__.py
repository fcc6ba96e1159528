"""The views of the page on InfoNCE and its relatives, one module each; every view is one fragment."""
