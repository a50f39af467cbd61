"""The language: text to syntax tree and back."""
