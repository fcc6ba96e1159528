"""The page that compares encoders: what can be chosen, the charts, and the epochs of one run."""
