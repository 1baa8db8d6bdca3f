// Axes of a chart: scales, round ticks, and numbers and times as short texts.
const HOUR_MS = 3_600_000, DAY_MS = 24 * HOUR_MS;
const TIME_STEPS = [1, 5, 10, 50, 100, 500, 1e3, 5e3, 15e3, 30e3, 6e4, 3e5, 9e5, 18e5, HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS, 2 * DAY_MS, 7 * DAY_MS];

const shortNumber = (v, digits = 6) => {
  const size = Math.abs(v);
  if (size >= 1e15 || (size && size < 1e-4)) return v.toExponential(2).replace(/\.?0+e/, "e");
  for (const [unit, from] of [["T", 1e12], ["B", 1e9], ["M", 1e6], ["k", 1e4]]) if (size >= from) return `${Number((v / (unit === "k" ? 1e3 : from)).toPrecision(digits))}${unit}`;
  return Number(v.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 });
};
const exactNumber = (v) => (Math.abs(v) >= 1e15 || (v && Math.abs(v) < 1e-6) ? String(v) : v.toLocaleString("en", { maximumFractionDigits: Math.abs(v) >= 100 ? 2 : 6 }));

// Round numbers between both ends, about `wanted` of them.
function numberTicks(low, high, wanted, whole) {
  const least = high / wanted - low / wanted;
  if (!(least > 0) || !Number.isFinite(least)) return [low];
  const power = 10 ** Math.floor(Math.log10(least));
  let step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= least * 0.999999) || 10 * power;
  if (whole) step = Math.max(1, Math.round(step));
  const out = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && out.length < 100; i++) out.push(i * step);
  return out;
}

// [time, text] of round times. Times are drawn as they are stored: in UTC.
function timeTicks(low, high, wanted) {
  const span = Math.max(1, high - low), iso = (t) => { try { return new Date(t).toISOString(); } catch (error) { return ""; } };
  const step = TIME_STEPS.find((s) => span / s <= wanted), out = [];
  if (step) {
    const monday = step === 7 * DAY_MS ? 4 * DAY_MS : 0;
    for (let t = Math.ceil((low - monday) / step) * step + monday; t <= high; t += step) {
      const text = iso(t), day = t % DAY_MS === 0;
      out.push([t, step >= DAY_MS ? text.slice(0, 10) : day ? text.slice(0, 10) : step >= 6e4 ? text.slice(11, 16) : step >= 1e3 ? text.slice(11, 19) : text.slice(17, 23)]);
    }
    if (step < DAY_MS && out.length && !out.some(([t]) => t % DAY_MS === 0)) out[0][1] = `${iso(out[0][0]).slice(0, 10)} ${out[0][1]}`;
    return out;
  }
  const months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000, 24000, 60000].find((m) => span / (m * 30.44 * DAY_MS) <= wanted) || 120000;
  const first = new Date(low);
  let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / months) * months;
  for (; out.length < 100; month += months) {
    const at = new Date(0);
    at.setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
    const t = at.getTime();
    if (!(t <= high)) break;
    if (t >= low) out.push([t, months % 12 ? iso(t).slice(0, 7) : String(at.getUTCFullYear())]);
  }
  return out;
}

// Position of a value between two ends, in pixels. Differences of huge numbers may overflow: halves do not.
function linearScale(low, high, from, to) {
  const span = high / 2 - low / 2;
  return (v) => (span > 0 ? from + ((v / 2 - low / 2) / span) * (to - from) : (from + to) / 2);
}

// A logarithmic scale: values below its low end stand on it.
function logScale(low, high, from, to) {
  const scale = linearScale(Math.log10(low), Math.log10(high), from, to);
  return (v) => scale(Math.log10(Math.max(v, low)));
}

function logEnds(values) {
  const some = values.filter((v) => v > 0);
  if (!some.length) return [1, 10];
  const low = 10 ** Math.floor(Math.log10(Math.min(...some)) + 1e-9), high = 10 ** Math.ceil(Math.log10(Math.max(...some)) - 1e-9);
  return [low, high > low ? high : low * 10];
}

// Powers of ten, at most eight of them.
function logTicks(low, high) {
  const first = Math.round(Math.log10(low)), last = Math.round(Math.log10(high)), step = Math.ceil((last - first) / 8) || 1, out = [];
  for (let power = first; power <= last; power += step) out.push(10 ** power);
  return out;
}

// The ends of the values, with zero if bars stand on it, at round numbers.
function niceEnds(values, zero) {
  let low = Infinity, high = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  if (low > high) return [0, 1];
  if (zero) { low = Math.min(0, low); high = Math.max(0, high); }
  if (low === high) { const pad = Math.abs(low) * 0.1 || 1; return zero ? [0, low || 1].sort((a, b) => a - b) : [low - pad, high + pad]; }
  const ticks = numberTicks(low, high, 5), step = ticks.length > 1 ? ticks[1] - ticks[0] : 0;
  if (!step) return [low, high];
  return [ticks[0] > low ? ticks[0] - step : low, ticks[ticks.length - 1] < high ? ticks[ticks.length - 1] + step : high];
}

// Eight shapes of area 1: a series is told by shape and colour.
const SHAPES = [
  "M-.56 0a.56 .56 0 1 0 1.12 0a.56 .56 0 1 0-1.12 0z", "M-.5-.5h1v1h-1z", "M0-.7L.66.44H-.66z", "M0-.75L.6 0L0 .75L-.6 0z", "M0 .7L.66-.44H-.66z",
  "M-.2-.62h.4v.42h.42v.4h-.42v.42h-.4v-.42h-.42v-.4h.42z", "M-.62-.3h1.24v.6h-1.24z", "M-.3-.62h.6v1.24h-.6z",
];
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "5 2", "1 2", "12 4", "3 6"];
const SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A6FBF", "#888888"];
const RAMP = ["#3B528B", "#2C728E", "#21918C", "#28AE80", "#7AC252", "#D9B01C", "#888888"];
