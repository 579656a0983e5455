"""Alerts: rules, how the sampler's figures move them, who mutes them, and who hears of them."""
