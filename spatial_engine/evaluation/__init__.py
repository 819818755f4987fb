"""Asking models: prompts, requests, a cache, a server to try it on, baselines, and what came of it."""
