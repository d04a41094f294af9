"""The crawl engine: worker shifts that claim URLs, fetch them, judge responses, write rows and complete leases."""
