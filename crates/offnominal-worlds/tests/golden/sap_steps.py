"""Steps of the particle environment, computed a second time, independently of the Rust code.

Plain Python, no packages. Run `python3 sap_steps.py > sap_steps.json` in this folder to make the file again.
The scenes are arranged so that the agent pushes an object into another one, enters a hazard, is slowed by its mass,
driven by a constant force, and reaches the goal.
"""

import json
import math
import platform

DT, DAMP, STIFF, K, VMAX = 0.1, 0.25, 100.0, 1e-3, 1.0
R_AGENT, R_OBJECT, R_HAZARD, R_GOAL = 0.05, 0.1, 0.2, 0.2


def lidar(agent, things):
    bins = [0.0] * 8
    for x, y in things:
        dx, dy = x - agent[0], y - agent[1]
        s = max(0.0, 1.0 - math.hypot(dx, dy))
        turn = (math.degrees(math.atan2(dy, dx)) % 360.0) / 45.0
        b = int(turn)
        f = turn - b
        for where, value in ((b, s), (b + 1, f * s), (b - 1, (1 - f) * s)):
            bins[where % 8] = max(bins[where % 8], value)
    return bins


def contact(p, q, reach):
    """Force on the body at p from the one at q."""
    dx, dy = p[0] - q[0], p[1] - q[1]
    d = math.hypot(dx, dy)
    if d > reach:
        return (0.0, 0.0)
    f = STIFF * K * math.log1p(math.exp((reach - d) / K))
    return (f * dx / d, f * dy / d)


def run(x, n_objects, actions, mass=1.0, force=0.0):
    points = list(zip(x[::2], x[1::2]))
    agent, goal = points[0], points[1]
    objects, hazards = points[2:2 + n_objects], points[2 + n_objects:]
    bodies = [agent] + objects
    radii = [R_AGENT] + [R_OBJECT] * n_objects
    masses = [mass] + [1.0] * n_objects
    speeds = [(0.0, 0.0)] * len(bodies)
    touched = False
    steps = []
    for a in actions:
        a = [min(1.0, max(-1.0, c)) for c in a]
        forces = []
        for i, p in enumerate(bodies):
            fx, fy = (5 * a[0] + force, 5 * a[1] + force) if i == 0 else (0.0, 0.0)
            for j, q in enumerate(bodies):
                if i != j:
                    cx, cy = contact(p, q, radii[i] + radii[j])
                    fx, fy = fx + cx, fy + cy
            forces.append((fx, fy))
        for i, (fx, fy) in enumerate(forces):
            vx = speeds[i][0] * (1 - DAMP) + fx / masses[i] * DT
            vy = speeds[i][1] * (1 - DAMP) + fy / masses[i] * DT
            n = math.hypot(vx, vy)
            if n > VMAX:
                vx, vy = vx / n * VMAX, vy / n * VMAX
            speeds[i] = (vx, vy)
            bodies[i] = (bodies[i][0] + vx * DT, bodies[i][1] + vy * DT)
        agent = bodies[0]
        gap = [math.dist(agent, o) - R_AGENT - R_OBJECT for o in bodies[1:]]
        gap += [math.dist(agent, h) - R_AGENT - R_HAZARD for h in hazards]
        critical = any(g < 0 for g in gap)
        touched = touched or critical
        at_goal = math.dist(agent, goal) < R_GOAL
        reward = -math.dist(agent, goal) ** 2 - 10 * critical + 5 * (at_goal and not touched)
        obs = [*agent, *speeds[0], goal[0] - agent[0], goal[1] - agent[1], *lidar(agent, bodies[1:])]
        if hazards:
            obs += lidar(agent, hazards)
        status = "running" if not at_goal else "failed" if touched else "succeeded"
        steps.append({"observation": obs, "reward": reward, "status": status})
        if at_goal:
            break
    return steps


def case(name, environment, x, n_objects, actions, **parameters):
    steps = run(x, n_objects, actions, **parameters)
    return {"name": name, "environment": environment, "initial": x, "actions": actions[:len(steps)],
            "parameters": parameters, "steps": steps}


def main():
    weave = [[0.7, 0.9 * math.sin(t)] for t in range(50)]
    crowded = [0.0, 0.0, 0.9, 0.1, 0.2, 0.02, 0.42, 0.0, 0.0, 1.0, 0.45, 0.3]
    cases = [
        case("pushes one object into another and enters a hazard", "sap-goal1", crowded, 3,
             [[1.0, 0.1 * t] for t in range(12)]),
        case("reaches the goal untouched, with commands beyond the limit", "sap-goal0",
             [-0.9, -0.6, -0.2, 0.3, 0.5, 0.9], 1, [[3.0, 1.7]] * 30),
        case("a heavy agent in a wind", "sap-goal0", [-0.9, -0.6, -0.2, 0.9, -0.55, -0.15], 1, weave[:15],
             mass=3.5, force=-1.25),
    ]
    made = f"python3 sap_steps.py, Python {platform.python_version()}"
    print(json.dumps({"made_with": made, "cases": cases}, indent=1))


main()
