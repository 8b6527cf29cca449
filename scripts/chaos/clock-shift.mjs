// Loaded before a program to shift its wall clock by CHAOS_CLOCK_SHIFT_MS. Its monotonic clock stays correct.
const shift = Number(process.env.CHAOS_CLOCK_SHIFT_MS);
const now = () => RealDate.now() + shift;
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});
