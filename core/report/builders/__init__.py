"""How each figure of a report is made from a study and options: one module per group of figures."""
