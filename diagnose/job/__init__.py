"""The reduce step: events, identities, clocks, processes; everything the logs say about one job."""
