import assert from "node:assert/strict";
import { test } from "node:test";

import { dayOf, zoneAt } from "../../../book/web/drill/days.js";

const dayAt = (...local) => {
  const time = new Date(...local).getTime();
  return dayOf(time, zoneAt(time));
};

test("the zone is counted eastwards, summer time included", () => {
  process.env.TZ = "Asia/Shanghai";
  assert.equal(zoneAt(Date.UTC(2026, 0, 1)), 480);
  process.env.TZ = "Europe/Berlin";
  assert.equal(zoneAt(Date.UTC(2026, 0, 1)), 60);
  assert.equal(zoneAt(Date.UTC(2026, 6, 1)), 120);
});

test("23:00 and 03:59 are the same day, 04:00 is the next", () => {
  process.env.TZ = "Asia/Shanghai";
  const evening = dayAt(2026, 4, 1, 23);
  assert.equal(dayAt(2026, 4, 2, 3, 59, 59, 999), evening);
  assert.equal(dayAt(2026, 4, 2, 4), evening + 1);
});

// summer time of an hour, of half an hour, none; a zone of 45 minutes; the far side of the date line
for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai",
  "Asia/Kathmandu", "Pacific/Kiritimati"]) {
  test(`in ${zone} each day of the year turns at 04:00 and at no other time`, () => {
    process.env.TZ = zone;
    const first = dayAt(2026, 0, 1, 4);
    const offsets = new Set();
    for (let n = 0; n < 365; n++) {
      assert.equal(dayAt(2026, 0, 1 + n, 4), first + n);
      assert.equal(dayAt(2026, 0, 1 + n, 12), first + n);
      assert.equal(dayAt(2026, 0, 2 + n, 0), first + n);
      assert.equal(dayAt(2026, 0, 2 + n, 3, 59, 59, 999), first + n);
      offsets.add(zoneAt(new Date(2026, 0, 1 + n, 12).getTime()));
    }
    const hasSummerTime = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];
    assert.equal(offsets.size, hasSummerTime.includes(zone) ? 2 : 1);
  });
}

test("an event's day is that of its own zone, wherever it is read", () => {
  const time = Date.UTC(2026, 4, 1, 21); // 05:00 on 2 May in Beijing, 14:00 on 1 May in Seattle
  for (const reader of ["Asia/Shanghai", "America/Los_Angeles"]) {
    process.env.TZ = reader;
    assert.equal(dayOf(time, 480), dayOf(time, -420) + 1);
  }
});
