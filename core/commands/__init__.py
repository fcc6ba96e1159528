"""What the command line does, beyond reading its arguments: one module per command that needs more than a few lines."""
