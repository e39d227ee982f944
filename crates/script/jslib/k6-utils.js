// The functions of jslib's k6-utils, by what its documentation says of them.
import { check as k6check } from 'k6';
import { vu, scenario, test } from 'k6/execution';

export function randomIntBetween(min, max) { return Math.floor(Math.random() * (max - min + 1) + min); }

export function randomItem(items) { return items[Math.floor(Math.random() * items.length)]; }

export function randomString(length, charset = 'abcdefghijklmnopqrstuvwxyz') {
  let text = '';
  while (length-- > 0) text += charset[(Math.random() * charset.length) | 0];
  return text;
}

// `secure` asks for randomness that nobody can guess.
export function uuidv4(secure = false) {
  const bytes = new Uint8Array(16);
  if (secure) {
    if (typeof crypto === 'undefined') throw new Error('k6-utils: uuidv4(true) needs `crypto.getRandomValues`, which is not there');
    crypto.getRandomValues(bytes);
  } else for (let i = 0; i < 16; i++) bytes[i] = Math.random() * 256;
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

// What stands between two texts: the first, or all of them.
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  let at = 0;
  for (;;) {
    const start = content.indexOf(left, at);
    if (start < 0) break;
    const from = start + left.length;
    const end = content.indexOf(right, from);
    if (end < 0) break;
    found.push(content.substring(from, end));
    if (!repeat) return found[0];
    at = end + right.length;
  }
  return repeat ? found : null;
}

// check() of k6 that waits for the value, and for checks that are async functions.
export function check(value, checks, tags) {
  if (value === null || typeof value?.then !== 'function') {
    const results = Object.entries(checks).map(([name, test]) => [name, typeof test === 'function' ? test(value) : test]);
    if (!results.some(([, result]) => typeof result?.then === 'function')) return k6check(value, Object.fromEntries(results), tags);
    return Promise.all(results.map(async ([name, result]) => [name, await result]))
      .then((settled) => k6check(value, Object.fromEntries(settled), tags));
  }
  return Promise.resolve(value).then((settled) => check(settled, checks, tags));
}

export function parseDuration(text) {
  if (typeof text !== 'string' || text === '') throw new Error('str is required');
  const units = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1, us: 0.001, 'µs': 0.001 };
  let sum = 0;
  const rest = text.replace(/(\d+(?:\.\d*)?|\.\d+)(ms|us|µs|d|h|m|s)/g, (_, number, unit) => { sum += number * units[unit]; return ''; });
  if (rest !== '') {
    if (/^\d+(\.\d*)?$/.test(rest) && rest === text) return Number(text);
    throw new Error(`"${text}" is not a duration: write numbers with units, such as 1h30m or 500ms`);
  }
  return sum;
}

// Index of the stage that the scenario is in.
export function getCurrentStageIndex() {
  const current = test.options.scenarios?.[scenario.name];
  if (current == null) throw new Error(`the exec.test.options object doesn't contain the current scenario ${scenario.name}`);
  if (current.stages == null) throw new Error(`only ramping-vus or ramping-arrival-rate supports stages, it is not possible to get a stage index on other executors.`);
  if (current.stages.length < 1) throw new Error(`the current scenario ${scenario.name} doesn't contain any stage`);
  const elapsed = Date.now() - scenario.startTime;
  let end = 0;
  for (let i = 0; i < current.stages.length; i++) {
    end += parseDuration(String(current.stages[i].duration));
    if (elapsed < end) return i;
  }
  return current.stages.length - 1;
}

export function tagWithCurrentStageIndex() { vu.metrics.tags.stage = getCurrentStageIndex(); }

// Where the scenario is: ramping up, steady or ramping down.
export function tagWithCurrentStageProfile() { vu.metrics.tags.stage_profile = getStageProfile(); }

function getStageProfile() {
  const at = getCurrentStageIndex();
  const current = test.options.scenarios[scenario.name];
  const before = at === 0 ? (current.startVUs ?? current.startRate ?? 0) : current.stages[at - 1].target;
  const now = current.stages[at].target;
  return now > before ? 'ramp-up' : now < before ? 'ramp-down' : 'steady';
}

// Stages in the shape of a bell.
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const bell = (mean, variance, x) => Math.exp((-0.5 * (x - mean) ** 2) / variance) / Math.sqrt(2 * Math.PI * variance);
  const mean = 0, variance = 1, peak = bell(mean, variance, mean);
  const durations = Array(numberOfStages + 2).fill(Math.ceil(durationSeconds / (numberOfStages + 2)));
  const step = 4 / (numberOfStages + 1);
  const stages = [{ duration: `${durations[0]}s`, target: 0 }];
  for (let i = 1; i <= numberOfStages; i++) {
    stages.push({ duration: `${durations[i]}s`, target: Math.ceil((maxVus * bell(mean, variance, -2 + i * step)) / peak) });
  }
  stages.push({ duration: `${durations[numberOfStages + 1]}s`, target: 0 });
  return stages;
}
