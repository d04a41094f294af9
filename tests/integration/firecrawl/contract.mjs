// Calls of Firecrawl's JavaScript client, unmodified, against the door; what came is printed as one JSON object.
import Firecrawl from "@mendable/firecrawl-js";

const [address, key, site] = process.argv.slice(2);
const app = new Firecrawl({ apiKey: key, apiUrl: address });
const told = {};

const page = await app.scrape(`${site}/kettles`, { formats: ["markdown", "links"] });
told.scrape = { markdown: page.markdown, links: page.links, title: page.metadata.title, status: page.metadata.statusCode };
told.refused = await app.scrape(`${site}/private`).then(() => null, (error) => error.status ?? error.statusCode);
told.map = (await app.map(site)).links.map((link) => link.url);

const crawl = await app.crawl(site, { limit: 10, pollInterval: 1, timeout: 60 });
told.crawl = { status: crawl.status, urls: crawl.data.map((doc) => doc.metadata.sourceURL) };
const started = await app.startCrawl(site, { limit: 10 });
told.active = (await app.getActiveCrawls()).crawls.map((one) => one.id).includes(started.id);
const watcher = app.watcher(started.id, { kind: "crawl", pollInterval: 1, timeout: 60 });
const seen = [];
const done = new Promise((resolve) => {
  watcher.on("document", (doc) => seen.push(doc.metadata?.sourceURL ?? doc.metadata?.url));
  watcher.on("done", resolve);
  watcher.on("error", resolve);
});
await watcher.start();
const end = await done;
watcher.close();
told.watched = { status: end.status, seen: [...new Set(seen)] };
const errors = await app.getCrawlErrors(started.id);
told.errors = { errors: errors.errors.map((one) => one.url), robots: errors.robotsBlocked };
told.cancelled = await app.cancelCrawl(started.id).then((is) => is, (error) => error.status ?? error.statusCode);

const batch = await app.batchScrape([`${site}/kettles`, `${site}/a`], { pollInterval: 1, timeout: 60 });
told.batch = { status: batch.status, urls: batch.data.map((doc) => doc.metadata.sourceURL) };

const monitor = await app.createMonitor({
  name: "Shop",
  schedule: { cron: "0 9 * * *", timezone: "UTC" },
  targets: [{ type: "crawl", url: site, crawlOptions: { limit: 10 } }],
});
told.listed = (await app.listMonitors()).map((one) => one.id === monitor.id);
let check = await app.runMonitor(monitor.id);
while (["queued", "running"].includes(check.status)) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  check = await app.getMonitorCheck(monitor.id, check.id);
}
told.check = { status: check.status, pages: check.pages.map((one) => one.status) };
told.checks = (await app.listMonitorChecks(monitor.id)).length;
told.paused = (await app.updateMonitor(monitor.id, { status: "paused" })).status;
told.deleted = await app.deleteMonitor(monitor.id);

console.log(JSON.stringify(told));
