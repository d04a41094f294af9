// Calls of Firecrawl's JavaScript client, unmodified, against the door; what came is printed as one JSON object.
import Firecrawl, { FirecrawlClient, ResearchClient } from "@mendable/firecrawl-js";

const [address, key, site] = process.argv.slice(2);
const told = {};
const called = new Set();
const noted = (client) =>
  new Proxy(client, {
    get(target, name) {
      called.add(name);
      const found = target[name];
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
const real = new Firecrawl({ apiKey: key, apiUrl: address });
const app = noted(real);
const research = noted(real.research);
const JOB = "01a1e455-0000-7000-8000-000000000000";
const status = (error) => error.status ?? error.statusCode;
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
const address_of = (doc) => doc.metadata.sourceURL;

const page = await app.scrape(`${site}/kettles`, { formats: ["markdown", "links"] });
told.scrape = { markdown: page.markdown, links: page.links, title: page.metadata.title, status: page.metadata.statusCode };
const tracked = await app.scrape(`${site}/kettles`, {
  formats: ["markdown", { type: "changeTracking", modes: ["git-diff"] }],
  onlyMainContent: false,
  includeTags: [".price"],
  location: { country: "DE", languages: ["de"] },
  proxy: "auto",
  mobile: true,
  blockAds: true,
  parsers: [{ type: "pdf", mode: "fast" }],
  skipTlsVerification: true,
  timeout: 30000,
});
told.tracked = { markdown: tracked.markdown, status: tracked.changeTracking.changeStatus };
told.bare = (await app.scrape(`${site}/a`.replace("http://", ""))).metadata.title;
told.errors400 = {};
for (const [name, options] of Object.entries({
  format: { formats: ["bogus"] },
  selector: { includeTags: ["p:contains(x)"] },
  header: { headers: { Host: "other.example" } },
})) {
  told.errors400[name] = await app.scrape(`${site}/a`, options).then(() => null, status);
}
told.promises = await app.scrape(`${site}/a`, { redactPII: true }).then(() => null, status);
told.oldScrape = (await app.scrapeUrl(`${site}/kettles`)).metadata.title;
told.refused = await app.scrape(`${site}/private`).then(() => null, status);
told.map = (await app.map(site)).links.map((link) => link.url);
told.mapped = (await app.map(site, { search: "kettles", sitemap: "skip", limit: 1 })).links.map((link) => link.url);
told.oldMap = (await app.mapUrl(site)).links.length;
told.search = (await app.search("kettles")).web.map((one) => one.url);
told.concurrency = (await app.getConcurrency()).maxConcurrency > 0;
told.queue = (await app.getQueueStatus()).success;

const crawl = await app.crawl(site, { limit: 10, pollInterval: 1, timeout: 60 });
told.crawl = { status: crawl.status, urls: crawl.data.map((doc) => doc.metadata.sourceURL) };
const options = {
  limit: 10,
  excludePaths: ["ettle"],
  includePaths: null,
  maxDiscoveryDepth: 1,
  sitemap: "skip",
  ignoreQueryParameters: true,
  crawlEntireDomain: true,
  deduplicateSimilarURLs: true,
  maxConcurrency: 2,
  scrapeOptions: { formats: ["links", "rawHtml"], onlyMainContent: false },
};
const chosen = await app.crawl(site, { ...options, pollInterval: 1, timeout: 60 });
told.chosen = chosen.data.map((doc) => [address_of(doc), doc.markdown ?? null, doc.rawHtml.length > 0, doc.links.length]);
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
const part = await app.getCrawlStatus(started.id, { autoPaginate: false });
told.part = { status: part.status, count: part.data.length, next: part.next ?? null };
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
const repeated = { idempotencyKey: "0198c0de-0000-7000-8000-000000000001", options: { formats: ["html"] } };
const twice = [await app.startBatchScrape(urls, repeated), await app.startBatchScrape(urls, repeated)];
told.once = twice[0].id === twice[1].id;
const follower = app.watcher(twice[0].id, { kind: "batch", pollInterval: 1, timeout: 60 });
const followed = new Promise((resolve) => ["done", "error"].forEach((name) => follower.on(name, resolve)));
await follower.start();
told.followed = (await followed).status;
follower.close();
told.html = (await app.getBatchScrapeStatus(twice[0].id)).data.map((doc) => doc.html.includes("<p") && !doc.markdown);
const mixed = await app.startBatchScrape([urls[0], "http://user:word@example.org/"], { ignoreInvalidURLs: true });
told.invalid = mixed.invalidURLs;
const second = await app.startBatchScrape([...urls, `${site}/gone`]);
let state = await app.getBatchScrapeStatus(second.id);
while (state.status === "scraping") {
  await pause();
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
  webhook: { url: `${site}/in`, events: ["monitor.page"], metadata: { team: "shop" } },
  notification: { email: { enabled: true, recipients: ["ops@example.org"] } },
  retentionDays: 30,
});
told.made = {
  webhook: monitor.webhook.url,
  metadata: monitor.webhook.metadata,
  mail: monitor.notification.email.recipients,
  cron: monitor.schedule.cron,
};
told.listed = (await app.listMonitors()).map((one) => one.id === monitor.id);
told.targets = (await app.getMonitor(monitor.id)).targets.map((one) => one.type);
let check = await app.runMonitor(monitor.id);
while (["queued", "running"].includes(check.status)) {
  await pause();
  check = await app.getMonitorCheck(monitor.id, check.id);
}
told.check = { status: check.status, pages: check.pages.map((one) => one.status) };
told.summary = check.summary;
const only = await app.getMonitorCheck(monitor.id, check.id, { status: "changed", limit: 5 });
told.changed = only.pages.length;
told.checks = (await app.listMonitorChecks(monitor.id, { limit: 5 })).map((one) => one.trigger);
told.paused = (await app.updateMonitor(monitor.id, { status: "paused" })).status;
told.unhooked = (await app.updateMonitor(monitor.id, { webhook: null })).webhook;
told.deleted = await app.deleteMonitor(monitor.id);
told.forgotten = await app.getMonitor(monitor.id).then(() => null, status);

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
  getTokenUsage: () => app.getTokenUsage(),
  getCreditUsageHistorical: () => app.getCreditUsageHistorical(),
  getTokenUsageHistorical: () => app.getTokenUsageHistorical(),
  cancelAgent: () => app.cancelAgent(JOB),
  getAgentTrace: () => app.getAgentTrace(JOB),
  getAgentThread: () => app.getAgentThread(JOB),
  scrapeExecute: () => app.scrapeExecute(JOB, { code: "1" }),
  stopInteractiveBrowser: () => app.stopInteractiveBrowser(JOB),
  deleteScrapeBrowser: () => app.deleteScrapeBrowser(JOB),
  findTools: () => app.findTools(),
  parse: () => app.parse({ data: Buffer.from("%PDF-1.4"), filename: "a.pdf" }),
  feedback: () => app.feedback({ endpoint: "scrape", jobId: JOB, rating: "good" }),
  searchFeedback: () => app.searchFeedback(JOB, { rating: "good" }),
  searchPapers: () => research.searchPapers("kettles"),
  getPaper: () => research.getPaper("1"),
  similarPapers: () => research.similarPapers("1", { intent: "x" }),
  searchGithub: () => research.searchGithub("kettles"),
  v1: () => real.v1.scrapeUrl(site),
};
told.notOffered = {};
for (const [name, call] of Object.entries(refused)) {
  told.notOffered[name] = await call().then(() => null, status);
}

// A method that a newer client brings and nobody looked at is told.
const offered = [FirecrawlClient, ResearchClient].flatMap((kind) => Object.getOwnPropertyNames(kind.prototype));
told.missed = offered.filter((name) => !called.has(name) && !["constructor", "isCloudService", "research"].includes(name));
console.log(JSON.stringify(told));
