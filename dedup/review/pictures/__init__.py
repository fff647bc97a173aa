"""Pictures that the server draws as SVG: where each mark goes. Pure; the templates write the marks."""
