"""From syntax tree to one shared plan."""
