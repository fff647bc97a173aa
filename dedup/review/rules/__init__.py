"""Rules and settings that editors make and try: rules of series and groups, extraction rules, profiles."""
