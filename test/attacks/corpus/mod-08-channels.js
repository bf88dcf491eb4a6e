// @class: MODULES / diagnostics_channel: subscribers that publish, and channels whose names are never used again
// @expect: named
const channels = require('diagnostics_channel');
hook(() => {
  const channel = channels.channel('loop');
  channel.subscribe((message) => { for (let i = 0; i < 8; i++) channel.publish(message); });
  const kept = [];
  for (let i = 0; ; i++) { try { channel.publish(i); } catch {} const one = channels.channel('name ' + i + 'x'.repeat(1000)); one.subscribe(() => {}); kept.push(one); }
});
