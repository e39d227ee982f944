// htmlReport: what handleSummary gets, as a page that needs nothing else.

const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c]);
const shown = (value) => typeof value === 'number' ? String(parseFloat(value.toFixed(2))) : '–';

const STYLE = 'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1c2430}'
  + 'h1{margin-bottom:0}table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid #d8dde6}'
  + 'th:first-child,td:first-child{text-align:left}.good{color:#16794a}.bad{color:#b3261e;font-weight:600}.tiles{display:flex;flex-wrap:wrap;gap:1rem}'
  + '.tiles div{flex:1 0 9rem;padding:.8rem;border:1px solid #d8dde6;border-radius:.4rem}.tiles b{display:block;font-size:1.6rem}'
  + '@media(prefers-color-scheme:dark){body{background:#12161c;color:#dfe5ee}th,td,.tiles div{border-color:#39424f}.good{color:#5ad19a}.bad{color:#ff8a80}}';

const cell = (text, kind) => `<td${kind ? ` class="${kind}"` : ''}>${text}</td>`;
const table = (head, rows) => rows.length === 0 ? ''
  : `<table><thead><tr>${head.map((one) => `<th>${escaped(one)}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${row}</tr>`).join('')}</tbody></table>`;

export function htmlReport(data, options = {}) {
  if (typeof options === 'string') options = { title: options };
  const title = options.title || new Date().toISOString().slice(0, 16).replace('T', ' ');
  const metrics = Object.entries(data.metrics ?? {});
  let crossed = 0, thresholds = 0, passes = 0, fails = 0;
  for (const [, metric] of metrics) {
    for (const { ok } of Object.values(metric.thresholds ?? {})) { thresholds++; if (!ok) crossed++; }
  }
  const groups = [];
  const walk = (group) => {
    const checks = Object.values(group.checks ?? []);
    for (const check of checks) { passes += check.passes; fails += check.fails; }
    if (checks.length > 0) groups.push([group.path || 'default', checks]);
    Object.values(group.groups ?? []).forEach(walk);
  };
  if (data.root_group) walk(data.root_group);

  const marked = (name, metric) => {
    const all = Object.entries(metric.thresholds ?? {});
    if (all.length === 0) return cell(escaped(name));
    const bad = all.filter(([, { ok }]) => !ok).map(([text]) => text);
    return cell(`${escaped(name)} ${bad.length ? `✗ ${escaped(bad.join(', '))}` : '✓'}`, bad.length ? 'bad' : 'good');
  };
  const stats = data.options?.summaryTrendStats ?? ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
  const unit = (metric) => metric.contains === 'time' ? ' (ms)' : metric.contains === 'data' ? ' (bytes)' : '';
  const of = (type) => metrics.filter(([, metric]) => metric.type === type);
  const trends = of('trend').map(([name, metric]) =>
    marked(name + unit(metric), metric) + stats.map((stat) => cell(shown(metric.values[stat]))).join(''));
  const rates = of('rate').map(([name, metric]) => marked(name, metric)
    + cell(`${shown(metric.values.rate * 100)}%`) + cell(shown(metric.values.passes)) + cell(shown(metric.values.fails)));
  const counters = of('counter').map(([name, metric]) =>
    marked(name + unit(metric), metric) + cell(shown(metric.values.count)) + cell(shown(metric.values.rate)));
  const gauges = of('gauge').map(([name, metric]) => marked(name + unit(metric), metric)
    + ['value', 'min', 'max'].map((key) => cell(shown(metric.values[key]))).join(''));
  const checks = groups.map(([path, list]) => `<h3>${escaped(path)}</h3>` + table(['Check', 'Passes', 'Failures', '% Pass'], list.map((check) => {
    const share = (100 * check.passes) / (check.passes + check.fails);
    return cell(escaped(check.name)) + cell(check.passes) + cell(check.fails) + cell(shown(share), check.fails > 0 ? 'bad' : 'good');
  }))).join('');
  const value = (name, key) => shown(data.metrics?.[name]?.values?.[key]);
  const tile = (name, text, kind) => `<div class="${kind ?? ''}">${name}<b>${text}</b></div>`;
  const tiles = tile('Total requests', value('http_reqs', 'count'))
    + tile('Failed requests', value('http_req_failed', 'passes'), data.metrics?.http_req_failed?.values?.passes > 0 ? 'bad' : 'good')
    + tile('Breached thresholds', `${crossed} of ${thresholds}`, crossed > 0 ? 'bad' : 'good')
    + tile('Failed checks', `${fails} of ${passes + fails}`, fails > 0 ? 'bad' : 'good');
  const debug = options.debug ? `<pre>${escaped(JSON.stringify(data, null, 2))}</pre>` : '';
  return `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Test report: ${escaped(title)}</title><style>${STYLE}</style></head><body>`
    + `<h1>${escaped(title)}</h1><div class="tiles">${tiles}</div>`
    + `<h2>Trends and times</h2>${table(['', ...stats], trends)}<h2>Rates</h2>${table(['', 'Rate', 'Passes', 'Failures'], rates)}`
    + `<h2>Counters</h2>${table(['', 'Count', 'Per second'], counters)}<h2>Gauges</h2>${table(['', 'Value', 'Min', 'Max'], gauges)}`
    + `<h2>Checks</h2>${checks}${debug}</body></html>\n`;
}

export default { htmlReport };
