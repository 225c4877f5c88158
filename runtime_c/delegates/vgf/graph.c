#include "delegates/vgf/graph.h"

#include <string.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    VkResult result_ = (call);                                                                     \
    if (result_ != VK_SUCCESS) return fail(error, #call, result_);                                 \
  } while (0)

/* "g->v->vkCreateTensorARM(...)" -> "vkCreateTensorARM: error -3" */
static pte_status fail(pte_error *error, const char *call, VkResult result) {
  const char *name = strstr(call, "vk");
  size_t length = strcspn(name, "(");
  return pte_delegate_fail(error, "%.*s: error %d", (int)length, name, result);
}

static pte_status take(pte_vgf_graph *g, const VkMemoryRequirements *need, bool is_mapped,
                       VkDeviceMemory *out, pte_error *error) {
  const VkPhysicalDeviceMemoryProperties *memory = &g->v->memory;
  VkMemoryPropertyFlags flags =
      is_mapped ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT : 0;
  for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
    bool fits = (need->memoryTypeBits >> i & 1) != 0 &&
                (memory->memoryTypes[i].propertyFlags & flags) == flags;
    if (!fits) continue;
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = need->size == 0 ? 16 : need->size,
                                 .memoryTypeIndex = i};
    TRY(g->v->vkAllocateMemory(g->v->device, &info, NULL, out));
    return PTE_OK;
  }
  return pte_delegate_fail(error, "the Vulkan device has no memory that suits a tensor");
}

/* A tensor of the interface, in memory of its own that this process sees. */
static pte_status open_port(pte_vgf_graph *g, pte_vgf_port *port,
                            const VkTensorDescriptionARM *description, pte_error *error) {
  VkDevice device = g->v->device;
  VkTensorCreateInfoARM info = {.sType = VK_STRUCTURE_TYPE_TENSOR_CREATE_INFO_ARM,
                                .pDescription = description};
  TRY(g->v->vkCreateTensorARM(device, &info, NULL, &port->tensor));
  VkTensorMemoryRequirementsInfoARM asked = {
      .sType = VK_STRUCTURE_TYPE_TENSOR_MEMORY_REQUIREMENTS_INFO_ARM, .tensor = port->tensor};
  VkMemoryRequirements2 need = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
  g->v->vkGetTensorMemoryRequirementsARM(device, &asked, &need);
  pte_status status = take(g, &need.memoryRequirements, true, &port->memory, error);
  if (status != PTE_OK) return status;
  VkBindTensorMemoryInfoARM bind = {.sType = VK_STRUCTURE_TYPE_BIND_TENSOR_MEMORY_INFO_ARM,
                                    .tensor = port->tensor,
                                    .memory = port->memory};
  TRY(g->v->vkBindTensorMemoryARM(device, 1, &bind));
  TRY(g->v->vkMapMemory(device, port->memory, 0, VK_WHOLE_SIZE, 0, &port->mapped));
  VkTensorViewCreateInfoARM view = {.sType = VK_STRUCTURE_TYPE_TENSOR_VIEW_CREATE_INFO_ARM,
                                    .tensor = port->tensor,
                                    .format = description->format};
  TRY(g->v->vkCreateTensorViewARM(device, &view, NULL, &port->view));
  return PTE_OK;
}

static uint32_t port_count(const pte_vgf_graph *g) {
  return g->model.input_count + g->model.output_count;
}

static void plan(const pte_vgf_graph *g, pte_vgf_plan *plans) {
  uint32_t ports = port_count(g);
  for (uint32_t i = 0; i < ports + g->model.constant_count; i++) {
    pte_vgf_tensor tensor = pte_vgf_model_tensor(&g->model, i);
    pte_vgf_plan *own = &plans[i];
    for (uint32_t k = 0; k < tensor.shape.rank; k++) own->dims[k] = tensor.shape.dims[k];
    own->description = (VkTensorDescriptionARM){
        .sType = VK_STRUCTURE_TYPE_TENSOR_DESCRIPTION_ARM,
        .tiling = VK_TENSOR_TILING_LINEAR_ARM,
        .format = tensor.shape.bits == 8 ? VK_FORMAT_R8_SINT : VK_FORMAT_R32_SINT,
        .dimensionCount = tensor.shape.rank,
        .pDimensions = own->dims,
        .usage =
            VK_TENSOR_USAGE_DATA_GRAPH_BIT_ARM | (i < ports ? VK_TENSOR_USAGE_SHADER_BIT_ARM : 0)};
    own->constant = (VkDataGraphPipelineConstantARM){
        .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_CONSTANT_ARM,
        .pNext = &own->description,
        .id = i - ports,
        .pConstantData = tensor.data};
  }
}

static pte_status open_layout(pte_vgf_graph *g, pte_error *error) {
  VkDescriptorSetLayoutBinding bindings[PTE_VGF_MAX_IO];
  for (uint32_t i = 0; i < port_count(g); i++)
    bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                 .descriptorType = VK_DESCRIPTOR_TYPE_TENSOR_ARM,
                                                 .descriptorCount = 1,
                                                 .stageFlags = VK_SHADER_STAGE_ALL};
  VkDescriptorSetLayoutCreateInfo set = {.sType =
                                             VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                         .bindingCount = port_count(g),
                                         .pBindings = bindings};
  TRY(g->v->vkCreateDescriptorSetLayout(g->v->device, &set, NULL, &g->set_layout));
  VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                     .setLayoutCount = 1,
                                     .pSetLayouts = &g->set_layout};
  TRY(g->v->vkCreatePipelineLayout(g->v->device, &info, NULL, &g->layout));
  return PTE_OK;
}

/* Constants lie together at the end of `plans`; Vulkan wants them side by side. */
static pte_status open_pipeline(pte_vgf_graph *g, pte_vgf_plan *plans,
                                VkDataGraphPipelineConstantARM *constants, pte_error *error) {
  uint32_t ports = port_count(g);
  VkDataGraphPipelineResourceInfoARM resources[PTE_VGF_MAX_IO];
  for (uint32_t i = 0; i < ports; i++)
    resources[i] = (VkDataGraphPipelineResourceInfoARM){
        .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_RESOURCE_INFO_ARM,
        .pNext = &plans[i].description,
        .binding = i};
  for (uint32_t i = 0; i < g->model.constant_count; i++) constants[i] = plans[ports + i].constant;
  VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                   .codeSize = g->model.word_count * 4,
                                   .pCode = g->model.words};
  TRY(g->v->vkCreateShaderModule(g->v->device, &code, NULL, &g->module));
  VkDataGraphPipelineShaderModuleCreateInfoARM shader = {
      .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SHADER_MODULE_CREATE_INFO_ARM,
      .module = g->module,
      .pName = g->model.entry,
      .constantCount = g->model.constant_count,
      .pConstants = constants};
  VkDataGraphPipelineCreateInfoARM info = {
      .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_CREATE_INFO_ARM,
      .pNext = &shader,
      .layout = g->layout,
      .resourceInfoCount = ports,
      .pResourceInfos = resources};
  TRY(g->v->vkCreateDataGraphPipelinesARM(g->v->device, VK_NULL_HANDLE, VK_NULL_HANDLE, 1, &info,
                                          NULL, &g->pipeline));
  return PTE_OK;
}

static pte_status bind_memory(pte_vgf_graph *g,
                              const VkDataGraphPipelineSessionBindPointRequirementARM *point,
                              pte_error *error) {
  for (uint32_t i = 0; i < point->numObjects; i++) {
    if (g->memory_count == PTE_VGF_MAX_MEMORIES)
      return pte_delegate_fail(error, "the Vulkan device wants too many memories for a session");
    VkDataGraphPipelineSessionMemoryRequirementsInfoARM asked = {
        .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SESSION_MEMORY_REQUIREMENTS_INFO_ARM,
        .session = g->session,
        .bindPoint = point->bindPoint,
        .objectIndex = i};
    VkMemoryRequirements2 need = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    g->v->vkGetDataGraphPipelineSessionMemoryRequirementsARM(g->v->device, &asked, &need);
    VkDeviceMemory *memory = &g->memories[g->memory_count];
    pte_status status = take(g, &need.memoryRequirements, false, memory, error);
    if (status != PTE_OK) return status;
    g->memory_count++;
    VkBindDataGraphPipelineSessionMemoryInfoARM bind = {
        .sType = VK_STRUCTURE_TYPE_BIND_DATA_GRAPH_PIPELINE_SESSION_MEMORY_INFO_ARM,
        .session = g->session,
        .bindPoint = point->bindPoint,
        .objectIndex = i,
        .memory = *memory};
    TRY(g->v->vkBindDataGraphPipelineSessionMemoryARM(g->v->device, 1, &bind));
  }
  return PTE_OK;
}

static pte_status open_session(pte_vgf_graph *g, pte_error *error) {
  VkDataGraphPipelineSessionCreateInfoARM info = {
      .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SESSION_CREATE_INFO_ARM,
      .dataGraphPipeline = g->pipeline};
  TRY(g->v->vkCreateDataGraphPipelineSessionARM(g->v->device, &info, NULL, &g->session));
  VkDataGraphPipelineSessionBindPointRequirementsInfoARM asked = {
      .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SESSION_BIND_POINT_REQUIREMENTS_INFO_ARM,
      .session = g->session};
  VkDataGraphPipelineSessionBindPointRequirementARM points[PTE_VGF_MAX_MEMORIES];
  uint32_t count = PTE_VGF_MAX_MEMORIES;
  for (uint32_t i = 0; i < count; i++)
    points[i] = (VkDataGraphPipelineSessionBindPointRequirementARM){
        .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_SESSION_BIND_POINT_REQUIREMENT_ARM};
  TRY(g->v->vkGetDataGraphPipelineSessionBindPointRequirementsARM(g->v->device, &asked, &count,
                                                                  points));
  for (uint32_t i = 0; i < count; i++) {
    pte_status status = bind_memory(g, &points[i], error);
    if (status != PTE_OK) return status;
  }
  return PTE_OK;
}

static pte_status open_set(pte_vgf_graph *g, VkDescriptorSet *out, pte_error *error) {
  uint32_t ports = port_count(g);
  VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_TENSOR_ARM, ports};
  VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                     .maxSets = 1,
                                     .poolSizeCount = 1,
                                     .pPoolSizes = &size};
  TRY(g->v->vkCreateDescriptorPool(g->v->device, &pool, NULL, &g->descriptor_pool));
  VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                      .descriptorPool = g->descriptor_pool,
                                      .descriptorSetCount = 1,
                                      .pSetLayouts = &g->set_layout};
  TRY(g->v->vkAllocateDescriptorSets(g->v->device, &info, out));
  VkWriteDescriptorSetTensorARM tensors[PTE_VGF_MAX_IO];
  VkWriteDescriptorSet writes[PTE_VGF_MAX_IO];
  for (uint32_t i = 0; i < ports; i++) {
    tensors[i] =
        (VkWriteDescriptorSetTensorARM){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_TENSOR_ARM,
                                        .tensorViewCount = 1,
                                        .pTensorViews = &g->ports[i].view};
    writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .pNext = &tensors[i],
                                       .dstSet = *out,
                                       .dstBinding = i,
                                       .descriptorCount = 1,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_TENSOR_ARM};
  }
  g->v->vkUpdateDescriptorSets(g->v->device, ports, writes, 0, NULL);
  return PTE_OK;
}

static pte_status record(pte_vgf_graph *g, VkDescriptorSet set, pte_error *error) {
  VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                  .queueFamilyIndex = g->v->family};
  TRY(g->v->vkCreateCommandPool(g->v->device, &pool, NULL, &g->command_pool));
  VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                      .commandPool = g->command_pool,
                                      .commandBufferCount = 1};
  TRY(g->v->vkAllocateCommandBuffers(g->v->device, &info, &g->commands));
  VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  VkPipelineBindPoint point = VK_PIPELINE_BIND_POINT_DATA_GRAPH_ARM;
  TRY(g->v->vkBeginCommandBuffer(g->commands, &begin));
  g->v->vkCmdBindPipeline(g->commands, point, g->pipeline);
  g->v->vkCmdBindDescriptorSets(g->commands, point, g->layout, 0, 1, &set, 0, NULL);
  VkDataGraphPipelineDispatchInfoARM dispatch = {
      .sType = VK_STRUCTURE_TYPE_DATA_GRAPH_PIPELINE_DISPATCH_INFO_ARM};
  g->v->vkCmdDispatchDataGraphARM(g->commands, g->session, &dispatch);
  VkMemoryBarrier2 written = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                              .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                              .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                              .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                              .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
  VkDependencyInfo outputs = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                              .memoryBarrierCount = 1,
                              .pMemoryBarriers = &written};
  g->v->vkCmdPipelineBarrier2(g->commands, &outputs);
  TRY(g->v->vkEndCommandBuffer(g->commands));
  VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  TRY(g->v->vkCreateFence(g->v->device, &fence, NULL, &g->done));
  return PTE_OK;
}

static pte_status open_all(pte_vgf_graph *g, pte_vgf_plan *plans, pte_error *error) {
  uint32_t ports = port_count(g);
  VkDescriptorSet set = VK_NULL_HANDLE;
  pte_status status = PTE_OK;
  plan(g, plans);
  for (uint32_t i = 0; status == PTE_OK && i < ports; i++)
    status = open_port(g, &g->ports[i], &plans[i].description, error);
  VkDataGraphPipelineConstantARM *constants =
      (VkDataGraphPipelineConstantARM *)(void *)(plans + ports + g->model.constant_count);
  if (status == PTE_OK) status = open_layout(g, error);
  if (status == PTE_OK) status = open_pipeline(g, plans, constants, error);
  if (status == PTE_OK) status = open_session(g, error);
  if (status == PTE_OK) status = open_set(g, &set, error);
  return status == PTE_OK ? record(g, set, error) : status;
}

pte_status pte_vgf_graph_open(pte_vgf_graph *g, pte_vgf_plan *plans, pte_error *error) {
  pte_status status = open_all(g, plans, error);
  if (status != PTE_OK) pte_vgf_graph_close(g);
  return status;
}

/* Until the device has nothing of this graph. */
static pte_status settle(pte_vgf_graph *g, const pte_delegate_until *until, pte_error *error) {
  const uint64_t glance_ns = 4000000;
  while (g->is_busy) {
    uint64_t left = pte_delegate_left_ns(until);
    if (left == 0) return pte_delegate_fail(error, "the run was told to end");
    VkResult result = g->v->vkWaitForFences(g->v->device, 1, &g->done, VK_TRUE,
                                            left < glance_ns ? left : glance_ns);
    if (result == VK_TIMEOUT) continue;
    g->is_busy = false;
    if (result != VK_SUCCESS) return fail(error, "vkWaitForFences(", result);
    TRY(g->v->vkResetFences(g->v->device, 1, &g->done));
  }
  return PTE_OK;
}

pte_status pte_vgf_graph_run(pte_vgf_graph *g, const pte_delegate_io *io,
                             const pte_delegate_until *until, pte_error *error) {
  pte_status status = settle(g, until, error);
  if (status != PTE_OK) return status;
  for (uint32_t i = 0; i < io->input_count; i++)
    memcpy(g->ports[i].mapped, io->inputs[i].data, (size_t)io->inputs[i].size_bytes);
  VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &g->commands};
  TRY(g->v->vkQueueSubmit(g->v->queue, 1, &submit, g->done));
  g->is_busy = true;
  status = settle(g, until, error);
  if (status != PTE_OK) return status;
  for (uint32_t i = 0; i < io->output_count; i++)
    memcpy(io->outputs[i].data, g->ports[io->input_count + i].mapped,
           (size_t)io->outputs[i].size_bytes);
  return PTE_OK;
}

/* Destroying what was never made is no error in Vulkan. */
void pte_vgf_graph_close(pte_vgf_graph *g) {
  const pte_vgf_device *v = g->v;
  const uint64_t most_ns = 1000000000;
  if (g->is_busy && v->vkWaitForFences(v->device, 1, &g->done, VK_TRUE, most_ns) == VK_TIMEOUT)
    return;
  v->vkDestroyFence(v->device, g->done, NULL);
  v->vkDestroyCommandPool(v->device, g->command_pool, NULL);
  v->vkDestroyDescriptorPool(v->device, g->descriptor_pool, NULL);
  if (g->session != VK_NULL_HANDLE)
    v->vkDestroyDataGraphPipelineSessionARM(v->device, g->session, NULL);
  v->vkDestroyPipeline(v->device, g->pipeline, NULL);
  v->vkDestroyShaderModule(v->device, g->module, NULL);
  v->vkDestroyPipelineLayout(v->device, g->layout, NULL);
  v->vkDestroyDescriptorSetLayout(v->device, g->set_layout, NULL);
  for (uint32_t i = 0; i < PTE_VGF_MAX_IO; i++) {
    const pte_vgf_port *port = &g->ports[i];
    if (port->view != VK_NULL_HANDLE) v->vkDestroyTensorViewARM(v->device, port->view, NULL);
    if (port->tensor != VK_NULL_HANDLE) v->vkDestroyTensorARM(v->device, port->tensor, NULL);
    v->vkFreeMemory(v->device, port->memory, NULL);
  }
  for (uint32_t i = 0; i < g->memory_count; i++) v->vkFreeMemory(v->device, g->memories[i], NULL);
}
