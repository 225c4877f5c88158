package dev.pteron

/** Runs once: `session.run("image" to tensor)`. */
fun Session.run(vararg inputs: Pair<String, Tensor>): Map<String, Tensor> = run(mapOf(*inputs))

/** Runs once with options: `session.run("image" to tensor) { timeout(1, TimeUnit.SECONDS) }`. */
fun Session.run(vararg inputs: Pair<String, Tensor>, options: RunOptions.() -> Unit): Map<String, Tensor> =
    run(mapOf(*inputs), RunOptions().apply(options))

/** Opens a session: `program.session { threads(2) }`. */
fun Program.session(method: String? = null, options: Session.Options.() -> Unit): Session =
    session(method, Session.Options().apply(options))

/** A tensor of these elements: `tensorOf(1f, 2f)`, or of a shape: `tensorOf(*values, shape = longArrayOf(1, 2))`. */
fun tensorOf(vararg values: Float, shape: LongArray = longArrayOf(values.size.toLong())): Tensor =
    Tensor.of(values, *shape)
