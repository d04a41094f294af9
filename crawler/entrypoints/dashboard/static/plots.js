// Plots in the page's own colours: `drawPlot(element, {series})` gives a function that takes new data.
// With `labels` its x is a place in them, not a time; `point` is told which place the pointer is at, or null.
"use strict";
(() => {
  const colour = (element, name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(${name})`;
    element.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const clock = (at, step) => new Date(at * 1000).toLocaleTimeString([], {
    hour: "2-digit", minute: "2-digit", second: step < 60 ? "2-digit" : undefined, hour12: false });
  const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 604800, 2592000];
  const short = (value) => (value >= 1000 ? `${+(value / 1000).toFixed(1)}k` : `${+value.toFixed(2)}`);

  window.drawPlot = (element, { series, bars = false, labels = null, values = short, point = null }) => {
    let plot = null;
    let last = null;
    const make = () => {
      plot?.destroy();
      const line = colour(element, "--line"), quiet = colour(element, "--quiet");
      const font = `12px ${getComputedStyle(element).fontFamily}`;
      const across = labels
        ? { values: (_, ticks) => ticks.map((at) => labels[at] ?? "") }
        : { values: (_, ticks, __, ___, step) => ticks.map((at) => clock(at, step)) };
      const axis = { stroke: quiet, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
      plot = new uPlot({
        width: element.clientWidth, height: element.clientHeight,
        legend: { show: false },
        cursor: point ? { y: false, points: { show: false }, drag: { x: false, y: false } } : { show: false },
        hooks: point ? { setCursor: [(of) => point(of.cursor.idx ?? null)] } : {},
        padding: [8, 28, 0, 0], // the last moment on the axis is not cut
        scales: { ...(labels ? { x: { time: false, range: (_, low, high) => [low - 0.6, high + 0.6] } } : {}), y: { range: (_, __, high) => [0, Math.max(1, high * 1.1)] } },
        axes: [{ ...axis, grid: { show: false }, size: 26, space: 80, incrs: STEPS, ...across }, { ...axis, size: 44, values: (_, ticks) => ticks.map(values) }],
        series: [{}, ...series.map((one) => ({
          label: one.label, stroke: colour(element, one.colour), width: 1.5, points: { show: false },
          fill: one.fill ? colour(element, one.colour).replace("rgb(", "rgba(").replace(")", ", .12)") : undefined,
          paths: bars ? uPlot.paths.bars({ size: [0.7, 40] }) : uPlot.paths.stepped({ align: 1 }),
        }))],
      }, last ?? [[], ...series.map(() => [])], element);
    };
    make();
    addEventListener("theme", make);
    new ResizeObserver(() => {
      if (plot.width !== element.clientWidth) plot.setSize({ width: element.clientWidth, height: element.clientHeight });
    }).observe(element);
    return (data) => { last = data; plot.setData(data); };
  };
})();
