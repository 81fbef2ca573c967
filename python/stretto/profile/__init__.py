"""Profiles that the preload library writes (`stretto run --profile DIR`): reading, matching and what they say."""
