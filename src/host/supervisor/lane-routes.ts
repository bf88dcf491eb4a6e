/**
 * Trusted side: the routes of one lane. A route is a list of handlers that run together; the lane is told of it once,
 * and runs then name it by number.
 */
import type { Route } from "../../protocol/messages/host-lane.ts";

export class LaneRoutes {
  readonly #routes = new Map<string, Route>();
  /** Routes that the unit which is connected at present knows. */
  readonly #announced = new Set<number>();
  #next = 0;

  get(hook: string, mode: Route["mode"], steps: Route["steps"]): Route {
    const key = keyOf(hook, mode, steps);
    let route = this.#routes.get(key);
    if (!route) {
      route = { kind: "route", route: this.#next++, hook, mode, steps };
      this.#routes.set(key, route);
    }
    return route;
  }

  isAnnounced({ route }: Route): boolean {
    return this.#announced.has(route);
  }

  /** Keeps a route for the units to come. */
  keep(route: Route): void {
    this.#routes.set(keyOf(route.hook, route.mode, route.steps), route);
  }

  announced({ route }: Route): void {
    this.#announced.add(route);
  }

  /** All routes, for a unit that has just connected. */
  announceAll(): Route[] {
    const routes = [...this.#routes.values()];
    for (const route of routes) this.announced(route);
    return routes;
  }

  disconnect(): void {
    this.#announced.clear();
  }

  /** A cell is gone for good, and with it the routes through it. */
  forget(cell: number): void {
    for (const [key, { route, steps }] of this.#routes) {
      if (!steps.some((step) => step[0] === cell)) continue;
      this.#routes.delete(key);
      this.#announced.delete(route);
    }
  }
}

function keyOf(hook: string, mode: Route["mode"], steps: Route["steps"]): string {
  return `${hook} ${mode} ${steps.join(" ")}`;
}
