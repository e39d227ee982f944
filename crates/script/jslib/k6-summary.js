// The summary of a run as text and as JUnit's XML, from what handleSummary gets.

const PALETTE = { bold: 1, faint: 2, red: 31, green: 32, cyan: 36 };
const GROUP = '█', DETAIL = '↳', GOOD = '✓', BAD = '✗';

const trimmed = (number, digits) => String(parseFloat(number.toFixed(digits)));
const cut = (number, digits) => trimmed(Math.trunc(number * 10 ** digits) / 10 ** digits, digits);

function bytes(count) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];
  if (count < 10) return `${count} B`;
  const power = Math.min(Math.floor(Math.log(count) / Math.log(1000)), units.length - 1);
  const value = Math.floor((count / 1000 ** power) * 10 + 0.5) / 10;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`;
}

function duration(ms, unit) {
  if (unit === 's') return (ms / 1000).toFixed(2) + 's';
  if (unit === 'ms') return ms.toFixed(2) + 'ms';
  if (unit === 'us') return (ms * 1000).toFixed(2) + 'µs';
  if (ms === 0) return '0s';
  if (ms < 0.001) return Math.trunc(ms * 1000000) + 'ns';
  if (ms < 1) return cut(ms * 1000, 2) + 'µs';
  if (ms < 1000) return cut(ms, 2) + 'ms';
  const seconds = cut((ms % 60000) / 1000, ms > 60000 ? 0 : 2) + 's';
  const minutes = Math.trunc(ms / 60000);
  if (minutes < 1) return seconds;
  const hours = Math.trunc(minutes / 60);
  return `${hours < 1 ? '' : `${hours}h`}${minutes % 60}m${seconds}`;
}

// A value of a metric as people read it.
export function humanizeValue(value, metric, timeUnit) {
  if (metric.type === 'rate') return (Math.trunc(value * 10000) / 100).toFixed(2) + '%';
  if (metric.contains === 'data') return bytes(value);
  if (metric.contains === 'time') return duration(value, timeUnit);
  return trimmed(value, 6);
}

// The column that stands first, and those behind it.
function columns(metric, timeUnit) {
  const { values } = metric;
  const shown = (value) => humanizeValue(value, metric, timeUnit);
  switch (metric.type) {
    case 'counter': return [shown(values.count), shown(values.rate) + '/s'];
    case 'gauge': return [shown(values.value), `min=${shown(values.min)}`, `max=${shown(values.max)}`];
    case 'rate': return [shown(values.rate), `${values.passes} out of ${values.passes + values.fails}`];
    default: return ['[no data]'];
  }
}

const isCrossed = (metric) => Object.values(metric.thresholds ?? {}).some((threshold) => !threshold.ok);

export function textSummary(data, options = {}) {
  const indent = options.indent ?? ' ';
  const colours = options.enableColors ?? true;
  const paint = (text, ...names) => colours ? `\x1b[${names.map((name) => PALETTE[name]).join(';')}m${text}\x1b[0m` : text;
  const stats = options.summaryTrendStats ?? data.options?.summaryTrendStats ?? ['avg', 'min', 'med', 'max', 'p(90)', 'p(95)'];
  const timeUnit = options.summaryTimeUnit ?? data.options?.summaryTimeUnit ?? '';
  const lines = [];

  const showGroup = (group, space) => {
    if (group.name !== '') lines.push(`${space}${GROUP} ${group.name}`, '');
    const inner = group.name === '' ? space : `${space}  `;
    const checks = Object.values(group.checks ?? []);
    for (const check of checks) {
      if (check.fails === 0) lines.push(paint(`${inner}${GOOD} ${check.name}`, 'green'));
      else {
        const share = Math.floor((100 * check.passes) / (check.passes + check.fails));
        lines.push(paint(`${inner}${BAD} ${check.name}`, 'red'));
        lines.push(paint(`${inner} ${DETAIL}  ${share}% — ${GOOD} ${check.passes} / ${BAD} ${check.fails}`, 'red'));
      }
    }
    if (checks.length > 0) lines.push('');
    for (const child of Object.values(group.groups ?? [])) showGroup(child, inner);
  };
  if (data.root_group) showGroup(data.root_group, `${indent}    `);

  const parent = (name) => name.split('{')[0];
  const names = Object.keys(data.metrics ?? {}).sort((a, b) =>
    parent(a) === parent(b) ? (a < b ? -1 : 1) : (parent(a) < parent(b) ? -1 : 1));
  const label = (name) => name.includes('{') ? `{ ${name.slice(name.indexOf('{') + 1, -1)} }` : name;
  const rows = names.map((name) => {
    const metric = data.metrics[name];
    const isTrend = metric.type === 'trend';
    const cells = isTrend
      ? stats.map((stat) => {
        const value = metric.values[stat];
        return stat === 'count' ? String(value) : humanizeValue(value ?? 0, metric, timeUnit);
      })
      : columns(metric, timeUnit);
    return { name, metric, isTrend, cells, isSub: name.includes('{') };
  });
  const width = Math.max(0, ...rows.map((row) => label(row.name).length + (row.isSub ? 2 : 0))) + 3;
  const widest = (wanted, column) => Math.max(0, ...rows.filter(wanted).map((row) => row.cells[column]?.length ?? 0));
  for (const row of rows) {
    const { metric, cells } = row;
    const mark = metric.thresholds === undefined ? ' ' : isCrossed(metric) ? paint(BAD, 'red') : paint(GOOD, 'green');
    const name = label(row.name);
    const dots = '.'.repeat(Math.max(0, width - name.length - (row.isSub ? 2 : 0)));
    let text;
    if (row.isTrend) {
      text = cells.map((cell, i) => `${stats[i]}=${paint(cell, 'cyan')}${' '.repeat(widest((one) => one.isTrend, i) - cell.length)}`).join(' ');
    } else {
      const pad = (cell, i) => ' '.repeat(Math.max(0, widest((one) => !one.isTrend && (i === 0 || one.cells.length > 1), i) - cell.length));
      text = cells.map((cell, i) =>
        i === 0 ? `${paint(cell, 'cyan')}${pad(cell, i)}`
          : cells.length === 2 ? paint(cell, 'cyan', 'faint') : `${paint(cell, 'cyan', 'faint')}${pad(cell, i)}`).join(' ');
    }
    lines.push(`${indent}${row.isSub ? '    ' : '  '}${mark} ${name}${paint(`${dots}:`, 'faint')} ${text}`);
  }
  return lines.join('\n');
}

const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c]);

// Each threshold is a test case.
export function jUnit(data, options = {}) {
  const name = options.name ? escaped(options.name) : 'k6 thresholds';
  const classname = options.classname ? escaped(options.classname) : 'Unnamed folder';
  const cases = [];
  let failures = 0;
  for (const [metricName, metric] of Object.entries(data.metrics ?? {})) {
    for (const [threshold, { ok }] of Object.entries(metric.thresholds ?? {})) {
      const title = `${escaped(metricName)} - ${escaped(threshold)}`;
      if (ok) cases.push(`<testcase name="${title}" classname="${classname}" />`);
      else {
        failures++;
        const values = Object.entries(metric.values).map(([key, value]) => `${key} value: ${value}`).join(', ');
        cases.push(`<testcase name="${title}" classname="${classname}"><failure message="${escaped(values)}" /></testcase>`);
      }
    }
  }
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return `<?xml version="1.0"?>\n<testsuites ${counts}>\n<testsuite name="${name}" ${counts}>${cases.length ? `\n${cases.join('\n')}` : ''}\n</testsuite >\n</testsuites >`;
}
