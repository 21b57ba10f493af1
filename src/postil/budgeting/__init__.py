"""Plans of rating campaigns: items, raters, hours and power."""
