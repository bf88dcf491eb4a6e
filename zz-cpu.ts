import { threadFloor } from "./bench/floors/thread.ts";
import { creel } from "./bench/creel.ts";
import * as H from "./bench/handlers.ts";
const work:any = (H as any).WORKS?.gate ?? (H as any).GATE_WORK ?? (H as any).gate ?? Object.values(H).find((v:any)=>v?.hook==='before_tool_call');
const subs:any = { floor: await threadFloor(work), floorMsg: await threadFloor(work,{batched:false}), creel: await creel(work,{isolation:'thread'}) };
const cpu=()=>{const u=process.cpuUsage();return u.user+u.system}; const tcpu=()=>{const u=(process as any).threadCpuUsage();return u.user+u.system};
async function seq(s:any,n:number){ for(let i=0;i<n;i++) await s.call(i); }
async function par(s:any,n:number){ let k=0; await Promise.all(Array.from({length:64},async()=>{ while(k<n) await s.call(k++); })); }
for (const s of Object.values(subs)) { await seq(s,5000); await par(s,20000); }
for (let r=0;r<3;r++) for (const [n,s] of Object.entries(subs)) { 
 let c=cpu(),m=tcpu(),t=performance.now(); await seq(s,8000); let C=cpu()-c,M=tcpu()-m; const T=performance.now()-t;
 c=cpu();m=tcpu(); const t2=performance.now(); await par(s,30000); let C2=cpu()-c,M2=tcpu()-m; const T2=performance.now()-t2;
 console.log(n.padEnd(9),'seq: wall',(T/8).toFixed(1),'cpu main',(M/8000).toFixed(1),'lane',((C-M)/8000).toFixed(1),' | 64: wall',(T2/30).toFixed(1),'main',(M2/30000).toFixed(1),'lane',((C2-M2)/30000).toFixed(1)); }
process.exit(0)
