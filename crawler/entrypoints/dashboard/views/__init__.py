"""View models: data for the dashboard's pages, collected and sorted."""
