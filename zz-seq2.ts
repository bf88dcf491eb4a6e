import { creel } from "./bench/creel.ts"; import * as H from "./bench/handlers.ts";
const s:any = await creel(H.POLICY_GATE,{isolation:'thread'});
for (let r=0;r<4;r++){ const t=performance.now(); for(let i=0;i<20000;i++) await s.call(i); console.log('seq',((performance.now()-t)/20).toFixed(1)); }
process.exit(0)
