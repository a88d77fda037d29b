// The ends of a logarithmic axis.

const leastDecades = 3;
const mostDecades = 12;

/** What a logarithmic axis shows: from the largest value down to where nearly all others lie. A value that passes zero has rows as near to it as chance will have it. */
export function decades(values: number[]): [number, number] {
  const positive = values.filter((v) => v > 0 && Number.isFinite(v)).sort((a, b) => a - b);
  if (positive.length === 0) return [0.1, 1];
  const most = positive[positive.length - 1];
  const usual = positive[Math.floor(0.02 * positive.length)];
  const power = (v: number) => Math.floor(Math.log10(v) + 1e-9);
  const high = Math.ceil(Math.log10(most) - 1e-9);
  const low = Math.max(Math.min(power(usual), high - leastDecades), high - mostDecades, power(positive[0]));
  return [Number(`1e${Math.min(low, high - 1)}`), Number(`1e${high}`)];
}
