"""What stands between a failing job and its report; nothing here may hurt the job."""
