// Calls of Firecrawl's JavaScript client, unmodified, against the door; what came is printed as one JSON object.
import Firecrawl from "@mendable/firecrawl-js";

const [address, key, site] = process.argv.slice(2);
const app = new Firecrawl({ apiKey: key, apiUrl: address });
const told = {};
const JOB = "01a1e455-0000-7000-8000-000000000000";
const status = (error) => error.status ?? error.statusCode;

const page = await app.scrape(`${site}/kettles`, { formats: ["markdown", "links"] });
told.scrape = { markdown: page.markdown, links: page.links, title: page.metadata.title, status: page.metadata.statusCode };
told.oldScrape = (await app.scrapeUrl(`${site}/kettles`)).metadata.title;
told.refused = await app.scrape(`${site}/private`).then(() => null, status);
told.map = (await app.map(site)).links.map((link) => link.url);
told.oldMap = (await app.mapUrl(site)).links.length;
told.search = (await app.search("kettles")).web.map((one) => one.url);
told.concurrency = (await app.getConcurrency()).maxConcurrency > 0;
told.queue = (await app.getQueueStatus()).success;

const crawl = await app.crawl(site, { limit: 10, pollInterval: 1, timeout: 60 });
told.crawl = { status: crawl.status, urls: crawl.data.map((doc) => doc.metadata.sourceURL) };
told.oldCrawl = (await app.crawlUrl(site, { limit: 10, pollInterval: 1, timeout: 60 })).completed;
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
told.status = [await app.getCrawlStatus(started.id), await app.checkCrawlStatus(started.id)].map((one) => one.data.length);
told.errors = [await app.getCrawlErrors(started.id), await app.checkCrawlErrors(started.id)].map((one) => ({
  errors: one.errors.map((error) => error.url),
  robots: one.robotsBlocked,
}));
told.cancelled = await app.cancelCrawl(started.id).then((is) => is, status);
told.oldStarted = typeof (await app.asyncCrawlUrl(site, { limit: 1 })).id;

const urls = [`${site}/kettles`, `${site}/a`];
const batch = await app.batchScrape(urls, { pollInterval: 1, timeout: 60 });
told.batch = { status: batch.status, urls: batch.data.map((doc) => doc.metadata.sourceURL) };
told.oldBatch = (await app.batchScrapeUrls(urls, { pollInterval: 1, timeout: 60 })).completed;
const second = await app.startBatchScrape([...urls, `${site}/gone`]);
let state = await app.getBatchScrapeStatus(second.id);
while (state.status === "scraping") {
  await new Promise((resolve) => setTimeout(resolve, 100));
  state = await app.checkBatchScrapeStatus(second.id);
}
told.batchErrors = [await app.getBatchScrapeErrors(second.id), await app.checkBatchScrapeErrors(second.id)].map((one) =>
  one.errors.map((error) => error.url),
);
told.batchCancelled = await app.cancelBatchScrape(second.id).then((is) => is, status);
told.oldBatchStarted = typeof (await app.asyncBatchScrapeUrls(urls)).id;

const monitor = await app.createMonitor({
  name: "Shop",
  schedule: { cron: "0 9 * * *", timezone: "UTC" },
  targets: [
    { type: "crawl", url: site, crawlOptions: { limit: 10 } },
    { type: "scrape", urls: [`${site}/a`] },
  ],
});
told.listed = (await app.listMonitors()).map((one) => one.id === monitor.id);
told.targets = (await app.getMonitor(monitor.id)).targets.map((one) => one.type);
let check = await app.runMonitor(monitor.id);
while (["queued", "running"].includes(check.status)) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  check = await app.getMonitorCheck(monitor.id, check.id);
}
told.check = { status: check.status, pages: check.pages.map((one) => one.status) };
told.checks = (await app.listMonitorChecks(monitor.id)).length;
told.paused = (await app.updateMonitor(monitor.id, { status: "paused" })).status;
told.deleted = await app.deleteMonitor(monitor.id);

const refused = {
  crawlParamsPreview: () => app.crawlParamsPreview(site, "all"),
  startExtract: () => app.startExtract({ urls: [site], prompt: "x" }),
  extract: () => app.extract({ urls: [site], prompt: "x" }),
  getExtractStatus: () => app.getExtractStatus(JOB),
  startAgent: () => app.startAgent({ prompt: "x" }),
  agent: () => app.agent({ prompt: "x" }),
  getAgentStatus: () => app.getAgentStatus(JOB),
  listAgents: () => app.listAgents(),
  getAgentSnapshot: () => app.getAgentSnapshot(JOB, "1"),
  browser: () => app.browser(),
  browserExecute: () => app.browserExecute(JOB, { code: "1" }),
  deleteBrowser: () => app.deleteBrowser(JOB),
  listBrowsers: () => app.listBrowsers(),
  interact: () => app.interact(JOB, { code: "1" }),
  stopInteraction: () => app.stopInteraction(JOB),
  developerSearch: () => app.developerSearch("kettles"),
  getCreditUsage: () => app.getCreditUsage(),
};
told.notOffered = {};
for (const [name, call] of Object.entries(refused)) {
  told.notOffered[name] = await call().then(() => null, status);
}

console.log(JSON.stringify(told));
