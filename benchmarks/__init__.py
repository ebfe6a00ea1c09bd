"""Programs that print figures of the lab itself; `make help` names them."""
