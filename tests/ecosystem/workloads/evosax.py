"""evosax: evolution strategies as pairs of ask and tell, inside jit and scan."""

import jax
import jax.numpy as jnp
from evosax.algorithms import (
    CMA_ES,
    PSO,
    SNES,
    DifferentialEvolution,
    Open_ES,
    SimpleES,
)
from evosax.problems import BBOBProblem

TOLERANCES = {"strategies": 2e-2, "black_box": 1e-2, "batches": 1e-2}


def _sphere(population):
    return jnp.sum((population - 0.5) ** 2, axis=-1)


def _run(strategy, distribution, steps=4, seed=0):
    params = strategy.default_params
    key = jax.random.key(seed)
    if distribution:
        state = strategy.init(key, jnp.zeros(3), params)
    else:
        population = jax.random.normal(key, (strategy.population_size, 3))
        state = strategy.init(key, population, _sphere(population), params)

    def step(state, key):
        first, second = jax.random.split(key)
        population, state = strategy.ask(first, state, params)
        fitness = _sphere(population)
        state, metrics = strategy.tell(second, population, fitness, state, params)
        return state, jnp.min(fitness)

    state, best = jax.lax.scan(step, state, jax.random.split(key, steps))
    return {
        "best": best,
        "solution": state.best_solution,
        "fitness": state.best_fitness,
    }


def strategies():
    solution = jnp.zeros(3)
    table = {
        "cma_es": (CMA_ES(8, solution), True),
        "open_es": (Open_ES(8, solution), True),
        "simple_es": (SimpleES(8, solution), True),
        "snes": (SNES(8, solution), True),
        "pso": (PSO(8, solution), False),
        "differential": (DifferentialEvolution(8, solution), False),
    }
    return {name: _run(strategy, kind) for name, (strategy, kind) in table.items()}


def trees():
    solution = {"w": jnp.zeros((2, 2)), "b": jnp.zeros(2)}
    strategy = SimpleES(4, solution)
    params = strategy.default_params
    state = strategy.init(jax.random.key(1), solution, params)
    population, state = strategy.ask(jax.random.key(2), state, params)
    return {
        "shapes": jax.tree.map(lambda x: list(x.shape), population),
        "w": population["w"][0],
    }


def black_box():
    problem = BBOBProblem("rastrigin", 3, seed=0)
    state = problem.init(jax.random.key(3))
    population = jax.random.normal(jax.random.key(4), (5, 3))
    fitness, state, _ = problem.eval(jax.random.key(5), population, state)
    return {"fitness": fitness, "sample": problem.sample(jax.random.key(6))}


def batches():
    strategy = SimpleES(6, jnp.zeros(3))
    params = strategy.default_params
    keys = jax.random.split(jax.random.key(7), 3)
    states = jax.vmap(strategy.init, in_axes=(0, None, None))(
        keys, jnp.zeros(3), params
    )
    asked, _ = jax.jit(jax.vmap(strategy.ask, in_axes=(0, 0, None)))(
        keys, states, params
    )
    return asked[:, 0]


def parameters():
    params = CMA_ES(8, jnp.zeros(3)).default_params
    changed = params.replace(std_init=0.5)
    return {"std": changed.std_init, "leaves": len(jax.tree.leaves(params))}
