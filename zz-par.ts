import { creel } from "./bench/creel.ts"; import { threadFloor } from "./bench/floors/thread.ts";
import * as H from "./bench/handlers.ts";
const s:any = process.argv[2]==='floor'? await threadFloor(H.POLICY_GATE) : await creel(H.POLICY_GATE,{isolation:'thread'});
async function par(s:any,n:number){ let k=0; await Promise.all(Array.from({length:64},async()=>{ while(k<n) await s.call(k++); })); }
await par(s,20000); const t=performance.now(); await par(s,150000); console.log('wall/call',((performance.now()-t)/150).toFixed(1)); await s[Symbol.asyncDispose]();
