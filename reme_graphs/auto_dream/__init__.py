"""The dream: what daily notes teach becomes lasting, linked knowledge."""
