"""The views of the temperature page, one module each; every view is one fragment."""
