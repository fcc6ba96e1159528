"""Figures: pure functions from tables to plotly figures, one module each. No streamlit, torch or file access."""
