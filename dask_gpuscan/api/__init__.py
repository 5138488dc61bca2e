"""What users see: arguments are checked here and handed on."""
