"""Editors, readers, runs, imports and crawls at once: is anything lost or doubled, and how long do people wait?"""
