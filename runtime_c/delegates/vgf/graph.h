/* One compiled graph on the device: its tensors, pipeline, session and recorded commands. */
#ifndef PTE_DELEGATES_VGF_GRAPH_H
#define PTE_DELEGATES_VGF_GRAPH_H

#include "delegates/vgf/device.h"
#include "delegates/vgf/model.h"

enum { PTE_VGF_MAX_MEMORIES = 8 };

typedef struct pte_vgf_port {
  VkTensorARM tensor;
  VkTensorViewARM view;
  VkDeviceMemory memory;
  void *mapped; /* the tensor's elements, packed */
} pte_vgf_port;

typedef struct pte_vgf_graph {
  pte_vgf_device *v;
  pte_vgf_model model;
  pte_vgf_port ports[PTE_VGF_MAX_IO]; /* inputs, then outputs */
  VkDescriptorSetLayout set_layout;
  VkPipelineLayout layout;
  VkShaderModule module;
  VkPipeline pipeline;
  VkDataGraphPipelineSessionARM session;
  VkDeviceMemory memories[PTE_VGF_MAX_MEMORIES]; /* the session's */
  uint32_t memory_count;
  VkDescriptorPool descriptor_pool;
  VkCommandPool command_pool;
  VkCommandBuffer commands;
  VkFence done;
  bool is_busy; /* `commands` are on the queue; `done` says when they are not any more */
} pte_vgf_graph;

/* What pte_vgf_graph_open needs for each tensor of the table while it runs. */
typedef struct pte_vgf_plan {
  int64_t dims[PTE_VGF_MAX_RANK];
  VkTensorDescriptionARM description;
  VkDataGraphPipelineConstantARM constant;
} pte_vgf_plan;

/* Compiles the model, whose words pte_vgf_spirv_check has proven, on an open device; the caller
 * holds the lock. `g` has `v` and `model` and is zero otherwise; after a failure it needs no close.
 * `plans` has room for every tensor. */
PTE_CHECKED pte_status pte_vgf_graph_open(pte_vgf_graph *g, pte_vgf_plan *plans, pte_error *error);

/* Copies the inputs, runs, copies the outputs; the caller holds the lock. PTE_DELEGATE: Vulkan
 * failed; or `until` came first: the device computes on, into memory of its own, and the next run
 * waits for that. */
PTE_CHECKED pte_status pte_vgf_graph_run(pte_vgf_graph *g, const pte_delegate_io *io,
                                         const pte_delegate_until *until, pte_error *error);

/* Waits for a run that was told to end, a second at most: what a device then still computes with
 * stays until the process ends. */
void pte_vgf_graph_close(pte_vgf_graph *g);

#endif
