// The drill's day turns at 04:00 local time: a late evening belongs to the day that it began.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TURNS_AT = 4 * HOUR;

/** Minutes by which local time is ahead of UTC at a time in ms; summer time is part of it. */
export const zoneAt = (time) => -new Date(time).getTimezoneOffset();

/** Number of the drill day in which a moment lies; `zone` is that moment's own. */
export const dayOf = (time, zone) => Math.floor((time + zone * MINUTE - TURNS_AT) / DAY);
