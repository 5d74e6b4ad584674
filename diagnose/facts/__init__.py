"""What the logs and the files beside them say about the job: versions, sizes, settings, each with its line."""
