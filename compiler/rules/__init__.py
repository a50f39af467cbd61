"""Rules that turn logical plans into better ones."""
