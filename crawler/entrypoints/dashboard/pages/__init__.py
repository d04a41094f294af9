"""The dashboard's page modules, in the order in which their routes are matched. Each has a `router`."""

from crawler.entrypoints.dashboard.pages import (
    crawl,
    crawl_changes,
    crawl_report,
    crawl_urls,
    credentials,
    documents,
    feed,
    feeds,
    find_and_help,
    login,
    noise,
    notifications,
    one_page,
    page_diff,
    project,
    project_bulk,
    project_changes,
    project_form,
    projects,
    queue,
    queue_add,
    queue_categories,
    queue_entry,
    schedule,
    schedule_backtest,
    signed_links,
    system,
    system_hosts,
    system_keys,
    system_settings,
    watch,
)

# Forms before single projects: /projects/new must not be read as a project's id.
PAGES = (
    login, signed_links, projects, feed, feeds, find_and_help, project_bulk,
    project_form, credentials, project, crawl, crawl_urls, crawl_report, schedule, schedule_backtest,
    crawl_changes, project_changes, noise, watch, one_page, page_diff, notifications,
    system, system_hosts, system_settings, system_keys,
    queue, queue_add, queue_categories, queue_entry, documents,
)  # fmt: skip
