"""Raw material becomes dated notes: one per resource."""
