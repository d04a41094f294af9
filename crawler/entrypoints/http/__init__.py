"""HTTP parts that the API and the dashboard share: authentication, sessions, errors, limits, pagination."""
